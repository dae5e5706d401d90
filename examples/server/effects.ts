/** Counts what the server did, so that a test can assert "exactly once", and lists the requests that reached it. */

/** One JSON-RPC request as it came in; never its contents. */
export interface SeenRequest {
  readonly id: string | number | null;
  readonly method: string;
  /** Tool or prompt name, or resource URI. */
  readonly name: string | null;
  readonly hasState: boolean;
  readonly hasResponses: boolean;
}

export interface EffectsReport {
  /** Effects of all tools, prompts and resources together. */
  readonly effects: number;
  readonly byTool: Record<string, number>;
  /** Newest last, at most 1 000. */
  readonly requests: readonly SeenRequest[];
}

const maxRequests = 1_000;

export class Effects {
  readonly #counts = new Map<string, number>();
  readonly #requests: SeenRequest[] = [];

  /** To be called where a real server would change the world. */
  perform(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  see(request: SeenRequest): void {
    this.#requests.push(request);
    if (this.#requests.length > maxRequests) this.#requests.shift();
  }

  report(): EffectsReport {
    const byTool = Object.fromEntries(this.#counts);
    const effects = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    return { effects, byTool, requests: [...this.#requests] };
  }
}
