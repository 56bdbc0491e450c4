/** Describes any error in plain words. */
import * as z from 'zod'
import { faultsOf } from './faults.ts'

const maxLength = 300
/** The issues that are described. A peer can cause a million. */
const maxIssues = 20

/**
 * The message of any error; for a zod error, the issues with their paths. At most 300 characters, since it
 * may contain text of a peer.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const faults = faultsOf(error, maxIssues).map(({ path, message }) =>
      path.length > 0 ? `${path.join('.')}: ${message}` : message,
    )
    return faults.join('; ').slice(0, maxLength)
  }
  return (error instanceof Error ? error.message : String(error)).slice(0, maxLength)
}
