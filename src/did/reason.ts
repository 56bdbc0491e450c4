/** Why something from outside was refused, in words for the one who sent it. */
import { z } from 'zod'

/** One line: what zod found and where, or the message of any other error; at most 300 characters. */
export function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    return error.issues
      .map(({ path, message }) => (path.length ? `${path.join('.')} ${message}` : message))
      .join('; ')
      .slice(0, 300)
  }
  return (error instanceof Error ? error.message : String(error)).slice(0, 300)
}
