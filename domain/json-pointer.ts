/** JSON pointers (RFC 6901). `''` is the root; a pointer here always comes from {@link pointerTo}. */

/** `pointer` extended by one member name or index. */
export function pointerTo(pointer: string, step: string | number): string {
  // The gate makes one for whatever it reads, whether or not it finds fault with it: most steps need no escape.
  const isPlain = typeof step === 'number' || !/[~/]/.test(step);
  return `${pointer}/${isPlain ? step : step.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The member names that a pointer passes, from the root on. */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
