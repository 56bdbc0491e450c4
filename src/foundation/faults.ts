/**
 * The faults of a value that does not fit a zod type: each with the path of the member, also inside of
 * alternatives.
 */
import type * as z from 'zod'
import './plain-issues.ts'

type Issue = z.core.$ZodIssue

/** `message` continues `member: …`, without the value. */
export type Fault = { path: PropertyKey[]; message: string }

/** The faults in the order of the issues, of which a peer can cause a million: `most` are read. */
export function faultsOf(error: z.core.$ZodError, most = Infinity): Fault[] {
  return error.issues.slice(0, most).flatMap((issue) => flatten(issue, []))
}

/** The first fault, as `member: reason`. `name` is that of the value itself. */
export function firstFault(error: z.core.$ZodError, name?: string): string {
  const { path, message } = faultsOf(error, 1)[0]!
  return `${[name ?? [], path].flat().join('.') || 'body'}: ${message}`
}

/** The message for a member whose text is never a secret: what it is instead. */
export function mustBe(wanted: string): (issue: { input?: unknown }) => string | undefined {
  return ({ input }) => (typeof input === 'string' ? `must be ${wanted}, and is ${quote(input)}` : undefined)
}

/** A value of others in a message, or `missing`. */
export function quote(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? typeof value).slice(0, 100)
}

const maxReasons = 10
const maxPathLength = 200

/** The first faults of a body, each as `path.to.field: reason`. */
export function reasons(error: z.core.$ZodError): string {
  const all = faultsOf(error).map(
    ({ path, message }) => `${path.join('.').slice(0, maxPathLength) || 'body'}: ${message}`,
  )
  const more = all.length > maxReasons ? [`and ${all.length - maxReasons} more`] : []
  return [...all.slice(0, maxReasons), ...more].join('; ')
}

function flatten(issue: Issue, parents: PropertyKey[]): Fault[] {
  const path = [...parents, ...issue.path]
  const inner = innerOf(issue)
  return inner.length > 0 ? inner.flatMap((each) => flatten(each, path)) : [{ path, message: issue.message }]
}

function innerOf(issue: Issue): Issue[] {
  if (issue.code === 'invalid_union') return closest(issue.errors) ?? []
  return issue.code === 'invalid_key' || issue.code === 'invalid_element' ? issue.issues : []
}

/**
 * The alternative of a union that fits best: the only one of the type of the value, or that with the fewest
 * wrong members.
 */
function closest(alternatives: Issue[][]): Issue[] | undefined {
  const fitting = alternatives.filter(isOfType)
  if (fitting.length < 2) return fitting[0]
  return fitting
    .filter((issues) => issues.every(({ path }) => path.length > 0))
    .toSorted((a, b) => a.length - b.length)[0]
}

function isOfType(issues: Issue[]): boolean {
  return !issues.some((issue) => {
    if (issue.path.length > 0) return false
    // A number that is not whole is of the type, too.
    if (issue.code === 'invalid_type') return issue.expected !== 'int'
    return issue.code === 'invalid_union' && !issue.errors.some(isOfType)
  })
}
