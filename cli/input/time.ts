/** Durations and instants from flags. */
import * as Flags from '@oclif/core/flags'
import { UsageError } from '../errors/errors.ts'
import { inUnits } from '../format/time.ts'
import type { Output } from '../output.ts'

const units = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

/** Reads a duration in seconds: `3600`, `45s`, `90m`, `12h`, `30d`. @throws {UsageError} */
export function readSeconds(flag: string, text: string): number {
  const [, number, unit] = /^([1-9]\d*)([smhd]?)$/.exec(text) ?? []
  if (number === undefined)
    throw new UsageError(`--${flag} ${JSON.stringify(text)} is not a duration such as 3600, 90m, 12h or 30d.`)
  return Number(number) * units[(unit || 's') as keyof typeof units]
}

/**
 * Says how long a lifetime without a unit is: `365` is some minutes, not days. `lifetimes` are flags by their
 * names.
 */
export function noteUnits(
  { sayError }: Pick<Output, 'sayError'>,
  lifetimes: Readonly<Record<string, string | undefined>>,
): void {
  for (const [flag, text = ''] of Object.entries(lifetimes))
    if (/^\d+$/.test(text))
      sayError(
        `Note: --${flag} ${text} is in seconds: ${inUnits(readSeconds(flag, text))}. With a unit: ${text}s, ${text}d.`,
      )
}

/**
 * Reads an instant as ISO 8601, from such an instant or from a duration before now such as `90m`. @throws
 * {UsageError}
 */
export function readSince(flag: string, text: string): string {
  if (/^\d+[smhd]?$/.test(text)) return new Date(Date.now() - readSeconds(flag, text) * 1_000).toISOString()
  const instant = new Date(text)
  if (!Number.isNaN(instant.getTime())) return instant.toISOString()
  throw new UsageError(
    `--${flag}: ${text} is neither an instant such as 2030-01-01T00:00:00Z nor a duration such as 90m, 12h or 30d.`,
  )
}

/**
 * The flag of the time in which an invitation, offer or request can be answered; `rules` are its relations to
 * other flags.
 */
export function expiresInFlag(
  rules: Pick<Parameters<typeof Flags.string>[0] & object, 'relationships'> = {},
  usually = '',
) {
  return Flags.string({
    ...rules,
    description: `time in which it can be answered: 15m, 12h, 14d; default: the daemon’s setting, usually 5m${usually}`,
  })
}

/** The value of `--expires-in` in seconds. @throws {UsageError} */
export function readExpiresIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readSeconds('expires-in', text)
}

export const timeoutFlag = Flags.string({
  dependsOn: ['wait'],
  description: 'how long to wait: 30s, 10m, 2h; default: 5m',
})

/** The value of `--timeout` in milliseconds. @throws {UsageError} */
export function readTimeout({ timeout = '5m' }: { timeout?: string | undefined }): number {
  return readSeconds('timeout', timeout) * 1_000
}
