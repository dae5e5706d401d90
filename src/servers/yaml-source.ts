/** A YAML text with its line numbers, so that a complaint about a value can say where it stands. */

import { type Document, LineCounter, isMap, isSeq, parseDocument } from 'yaml';

export interface Complaint {
  /** Counted from 1. */
  readonly line: number;
  /** Such as `servers[0].policy.roundDeadline`; empty for the text as a whole. */
  readonly path: string;
  readonly message: string;
}

export class YamlSource {
  private readonly lines = new LineCounter();
  private readonly document: Document.Parsed;

  constructor(text: string) {
    this.document = parseDocument(text, { lineCounter: this.lines, prettyErrors: false });
  }

  /** What makes the text no YAML at all. The parser's own message may quote the text, so only its code is shown. */
  get faults(): Complaint[] {
    return [...this.document.errors, ...this.document.warnings].map((fault) => ({
      line: this.lineAt(fault.pos[0]),
      path: '',
      message: `not valid YAML (${fault.code})`,
    }));
  }

  value(): unknown {
    return this.document.toJS();
  }

  complain(path: readonly PropertyKey[], message: string): Complaint {
    return { line: this.lineOf(path), path: nameOf(path), message };
  }

  /** Of the key when there is one, else of the value, else of the nearest parent. */
  private lineOf(path: readonly PropertyKey[]): number {
    let node: unknown = this.document.contents;
    let offset = startOf(node) ?? 0;
    for (const part of path) {
      if (isMap(node)) {
        const pair = node.items.find((each) => String(each.key) === String(part));
        offset = startOf(pair?.key) ?? offset;
        node = pair?.value;
      } else if (isSeq(node)) {
        node = node.items[Number(part)];
        offset = startOf(node) ?? offset;
      } else break;
    }
    return this.lineAt(offset);
  }

  private lineAt(offset: number): number {
    return Math.max(1, this.lines.linePos(offset).line);
  }
}

function startOf(node: unknown): number | undefined {
  return (node as { range?: [number, number, number] | null } | null | undefined)?.range?.[0];
}

function nameOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}
