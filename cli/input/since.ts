/** Moments in the past, from flags. */
import { UsageError } from '../errors/usage.ts'
import { readSeconds } from './duration.ts'

/** An instant (ISO 8601), of one such as `2030-01-01T00:00:00Z`, or of a length of time before now such as `90m`. @throws {UsageError} */
export function readSince(flag: string, text: string): string {
  if (/^\d+[smhd]?$/.test(text)) return new Date(Date.now() - readSeconds(flag, text) * 1_000).toISOString()
  const instant = new Date(text)
  if (!Number.isNaN(instant.getTime())) return instant.toISOString()
  throw new UsageError(
    `--${flag}: ${text} is neither an instant such as 2030-01-01T00:00:00Z nor a length of time such as 90m, 12h or 30d.`,
  )
}
