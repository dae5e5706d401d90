/** Typed values of an environment. */

import { readFileSync } from 'node:fs';
import { parseDurationMs } from '../../domain/duration.js';
import { Secret } from './secret.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads typed values and gathers complaints instead of stopping at the first. An empty variable counts as unset. */
export class Reader {
  readonly complaints: string[] = [];

  constructor(private readonly environment: Environment) {}

  complain(name: string, expected: string): void {
    this.complaints.push(`${name}: ${expected}`);
  }

  optional(name: string): string | undefined {
    return this.environment[name] === '' ? undefined : this.environment[name];
  }

  text(name: string, fallback: string): string {
    return this.optional(name) ?? fallback;
  }

  required(name: string, expected: string): string {
    const value = this.optional(name);
    if (value === undefined) this.complain(name, `is not set; expected ${expected}`);
    return value ?? '';
  }

  /** The variable itself, or the content of the file that `<name>_FILE` names. */
  secret(name: string, form: string): Secret {
    const file = this.optional(`${name}_FILE`);
    const value = this.optional(name);
    if (file !== undefined && value !== undefined) this.complain(name, `set exactly one of it and ${name}_FILE`);
    if (file === undefined) return new Secret(value ?? this.required(name, `${form} (or ${name}_FILE: a file that holds it)`));
    return this.secretFile(`${name}_FILE`, form) ?? new Secret('');
  }

  optionalSecret(name: string): Secret | undefined {
    const value = this.optional(name);
    return value === undefined ? undefined : new Secret(value);
  }

  /** The content of the file that the variable names. */
  secretFile(name: string, form?: string): Secret | undefined {
    const content = this.file(name, form);
    return content === undefined ? undefined : new Secret(content);
  }

  file(name: string, form = 'a PEM file'): string | undefined {
    const file = this.optional(name);
    if (file === undefined) return undefined;
    try {
      return readFileSync(file, 'utf8').trim();
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      this.complain(name, `the file cannot be read (${code}); expected ${form} in it`);
      return undefined;
    }
  }

  port(name: string, fallback: number): number {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
    this.complain(name, 'expected a port, 0 to 65535 (0: any free one)');
    return fallback;
  }

  count(name: string, fallback: number, least: number, most: number): number {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    if (/^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    this.complain(name, `expected a whole number from ${least} to ${most}`);
    return fallback;
  }

  oneOf<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    const choice = choices.find((each) => each === value);
    if (choice === undefined) this.complain(name, `expected one of ${choices.join(', ')}`);
    return choice ?? fallback;
  }

  durationMs(name: string, fallback: string, mostMs = Infinity, leastMs = 0): number {
    const ms = parseDurationMs(this.text(name, fallback));
    const least = leastMs === 0 ? '' : `, at least ${leastMs / 1_000} s`;
    if (ms === undefined || ms < leastMs) this.complain(name, `expected an ISO 8601 duration such as ${fallback}${least}`);
    else if (ms > mostMs) this.complain(name, `expected at most ${mostMs / 1000} seconds`);
    return ms ?? 0;
  }

  url(name: string, protocols: readonly string[], fallback?: string): string | undefined {
    const value = this.optional(name) ?? fallback;
    if (value === undefined) return undefined;
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value;
    this.complain(name, `expected a URL that starts with ${protocols.map((each) => `${each}//`).join(' or ')}`);
    return undefined;
  }

  origin(name: string): string | undefined {
    const value = this.url(name, ['https:', 'http:']);
    if (value !== undefined && new URL(value).origin !== value)
      this.complain(name, 'expected an origin: scheme, host and port, nothing after');
    return value;
  }
}
