/** What is wrong, in one line that can stand inside a sentence. */
import { z } from 'zod'

/** The message of any error; of a zod error, every issue with its path. */
export function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    return error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message)).join('; ')
  }
  return error instanceof Error ? error.message : String(error)
}
