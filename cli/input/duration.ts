/** Lengths of time from flags. */
import { UsageError } from '../errors/usage.ts'

const units = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

/** Seconds, of `3600`, `45s`, `90m`, `12h`, `30d`. @throws {UsageError} */
export function readSeconds(flag: string, text: string): number {
  const [, number, unit] = /^([1-9]\d*)([smhd]?)$/.exec(text) ?? []
  if (number === undefined)
    throw new UsageError(
      `--${flag} ${JSON.stringify(text)} is not a length of time such as 3600, 90m, 12h or 30d.`,
    )
  return Number(number) * units[(unit || 's') as keyof typeof units]
}
