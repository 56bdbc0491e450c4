/** What is wrong, in one line that can stand inside a sentence. */
import { z } from 'zod'
import './plain-issues.ts'

const maxLength = 300
/** The issues that are looked at: a peer can make a million, and no more than these fit. */
const maxIssues = 20

/** The message of any error; of a zod error, the issues with their paths. At most 300 characters: what is told may be what a peer sent. */
export function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const issues = error.issues
      .slice(0, maxIssues)
      .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
    return issues.join('; ').slice(0, maxLength)
  }
  return (error instanceof Error ? error.message : String(error)).slice(0, maxLength)
}
