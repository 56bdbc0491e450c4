/**
 * What checking claims may cost.
 *
 * Schemas come from strangers, and a dozen lines of nested `anyOf` and `$ref`, or a large pattern over a long text, can
 * keep the process busy for hours. Work is counted as it is done, rather than timed, so that the
 * same claims always have the same outcome.
 */

/** Work that is left to do, in units of about ten nanoseconds. */
export type Fuel = { left: number }

export class OutOfFuel extends Error {
  override name = 'OutOfFuel'
}

/** Takes some work off what is left. @throws {OutOfFuel} when there is not so much. */
export function burn(fuel: Fuel, units: number): void {
  fuel.left -= units
  if (fuel.left < 0) throw new OutOfFuel('too much work')
}
