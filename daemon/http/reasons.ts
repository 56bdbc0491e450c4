/** Reasons why a value does not fit a zod type: each names the field by its path, and never quotes the value. */
import type * as z from 'zod'

const maxReasons = 10
const maxPathLength = 200

/** The first reasons, each as `path.to.field: reason`. */
export function reasons(error: z.core.$ZodError): string {
  const all = error.issues.flatMap((issue) => describe(issue, []))
  const more = all.length > maxReasons ? [`and ${all.length - maxReasons} more`] : []
  return [...all.slice(0, maxReasons), ...more].join('; ')
}

function describe(issue: z.core.$ZodIssue, parents: PropertyKey[]): string[] {
  const path = [...parents, ...issue.path]
  const inner =
    issue.code === 'invalid_union'
      ? closest(issue.errors)
      : issue.code === 'invalid_key' || issue.code === 'invalid_element'
        ? issue.issues
        : []
  if (inner.length > 0) return inner.flatMap((each) => describe(each, path))
  return [`${path.join('.').slice(0, maxPathLength) || 'body'}: ${issue.message}`]
}

/** The alternative of a union that fits best: with the fewest wrong fields, and not wrong as a whole. */
function closest(alternatives: z.core.$ZodIssue[][]): z.core.$ZodIssue[] {
  const distance = (issues: z.core.$ZodIssue[]) =>
    issues.some(({ path }) => path.length === 0) ? Infinity : issues.length
  return alternatives.toSorted((a, b) => distance(a) - distance(b) || 0)[0] ?? []
}
