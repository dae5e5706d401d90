/**
 * The official conformance suite of MCP, apart from what Parley is made of: `conformance/` pins it, and the Node that it needs. It plays
 * the server, runs a command as the client, and judges what it saw on the wire.
 */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Child } from '../child.js';
import { built, root } from '../root.js';

/** One statement of the suite about the client. */
export interface Check {
  readonly name: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly description?: string;
  readonly errorMessage?: string;
}

/** The revision that is judged. */
export const revision = '2026-07-28';
const suite = '@modelcontextprotocol/conformance';
/** All scenarios wait for the one Parley, and then for each other, on a machine that may be busy. */
const scenarioTimeoutMs = 180_000;

const home = join(root, 'conformance');
const program = join(packageDir(suite), 'dist', 'index.js');
const run = promisify(execFile);

export class Referee {
  private constructor(
    readonly version: string,
    private readonly node: string,
  ) {}

  /** Installs what `conformance/package-lock.json` pins, unless that was done already. */
  static async bring(log: (line: string) => void): Promise<Referee> {
    const lock = join(home, 'package-lock.json');
    const installed = join(home, 'node_modules', 'installed-lock.json');
    const text = (file: string) => readFile(file, 'utf8').catch(() => undefined);
    if ((await text(lock)) !== (await text(installed))) {
      log('bringing the suite, and the Node that it needs');
      await run('npm', ['ci', '--ignore-scripts', '--loglevel=error'], { cwd: home });
      await copyFile(lock, installed);
    }
    const { version } = JSON.parse(await readFile(join(packageDir(suite), 'package.json'), 'utf8')) as { version: string };
    return new Referee(version, newerNode());
  }

  /** Names of all of the suite's scenarios for clients. */
  async clientScenarios(): Promise<readonly string[]> {
    return await this.#scenarios('--client');
  }

  /** Names of the suite's scenarios for servers that ask for input. */
  async askingServerScenarios(): Promise<readonly string[]> {
    return (await this.#scenarios('--server')).filter((name) => name.startsWith('input-required-result-'));
  }

  async #scenarios(whose: '--client' | '--server'): Promise<readonly string[]> {
    const { stdout } = await run(this.node, [program, 'list', whose]);
    const names = [...stdout.matchAll(/^ +- (\S+) \[/gm)].map(([, name]) => name ?? '');
    if (names.length === 0) throw new Error(`the suite lists no scenarios:\n${stdout}`);
    return names;
  }

  /** Plays the client of one scenario, with the server at `url`. */
  async judgeServer(scenario: string, url: string): Promise<readonly Check[]> {
    return await this.#checksOf(scenario, ['server', '--url', url, '--scenario', scenario, '--spec-version', revision], {});
  }

  /**
   * Plays the server of one scenario until the client has gone.
   *
   * @param deskUrl where the client is to come with the server's URL
   * @throws {Error} with the suite's last words when it gives no judgement
   */
  async judge(scenario: string, deskUrl: string): Promise<readonly Check[]> {
    // The suite gives the command to a shell, in pieces cut at its spaces: a path with spaces is safe in a variable only.
    const command = 'exec "$PARLEY_NODE" "$PARLEY_CLIENT"';
    const env = { PARLEY_NODE: process.execPath, PARLEY_CLIENT: built('tools/conformance/client.js'), PARLEY_DESK: deskUrl };
    const options = ['--spec-version', revision, '--timeout', String(scenarioTimeoutMs)];
    return await this.#checksOf(scenario, ['client', '--scenario', scenario, '--command', command, ...options], env);
  }

  /** @throws {Error} with the suite's last words when it gives no judgement */
  async #checksOf(scenario: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<readonly Check[]> {
    const dir = await mkdtemp(join(tmpdir(), 'parley-referee-'));
    const child = new Child({
      name: 'referee',
      command: this.node,
      args: [program, ...args, '-o', dir],
      env: { ...process.env, ...env },
      cwd: root,
    });
    try {
      await child.exited;
      const [folder = ''] = await readdir(dir);
      const checks = await readFile(join(dir, folder, 'checks.json'), 'utf8').catch(() => {
        throw new Error(`the referee gave no judgement of ${scenario}\n${child.tail()}`);
      });
      return JSON.parse(checks) as Check[];
    } finally {
      await child.stop();
      await rm(dir, { recursive: true, force: true });
    }
  }
}

function packageDir(name: string): string {
  return join(home, 'node_modules', name);
}

/** The suite does not start on less than Node 22; Parley runs on 20 as well. */
function newerNode(): string {
  const pinned = join(packageDir(`node-${process.platform}-${process.arch}`), 'bin', 'node');
  if (existsSync(pinned)) return pinned;
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  throw new Error(`the suite needs Node 22, and none is pinned for ${process.platform} ${process.arch}: run this with Node 22`);
}
