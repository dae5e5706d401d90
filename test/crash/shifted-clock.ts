/** Loaded by `--import`: this process believes that it is later, or earlier, by CRASH_CLOCK_SHIFT_MS. */

const shiftMs = Number(process.env['CRASH_CLOCK_SHIFT_MS'] ?? 0);
const RealDate = Date;
const now = (): number => RealDate.now() + shiftMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown)),
});
