/** Which route a request is for: a tree of the parts of paths, so that a request among a hundred routes costs what it does among two. */
import { splitKey, type Key } from './route.ts'

/** What follows a part of a path: parts that are written out, one with a name, and what is at its end, by the method. */
type Branch<Value> = {
  fixed: Map<string, Branch<Value>>
  named?: Branch<Value>
  ends: Map<string, End<Value>>
}
type End<Value> = { value: Value; names: readonly { name: string; at: number }[] }

/** What was found, and the parts of the path that have names, decoded. */
export type Found<Value> = { value: Value; params: Record<string, string> }

/**
 * Makes what finds the value for a request's method and path, of values by the keys of routes; nothing when there is none.
 *
 * A part that is written out goes before one with a name, so that `/a/b` is not taken for `/a/{name}`. Case counts, one slash at the end does
 * not, a name is never empty, and HEAD is GET.
 */
export function createRouteFinder<Value>(values: Iterable<readonly [Key, Value]>) {
  const root = newBranch<Value>()
  for (const [key, value] of values) add(root, key, value)
  return (method: string, path: string): Found<Value> | undefined => {
    const parts = path.split('/')
    if (parts.length > 2 && parts.at(-1) === '') parts.pop()
    const end = parts[0] === '' ? find(root, method === 'HEAD' ? 'GET' : method, parts, 1) : undefined
    if (!end) return undefined
    const params: Record<string, string> = {}
    for (const { name, at } of end.names) params[name] = decode(parts[at]!)
    return { value: end.value, params }
  }
}

function add<Value>(root: Branch<Value>, key: Key, value: Value): void {
  const [method, path] = splitKey(key)
  const names: { name: string; at: number }[] = []
  let branch = root
  for (const [at, part] of path.split('/').entries()) {
    if (at === 0) continue
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name !== undefined) {
      names.push({ name, at })
      branch = branch.named ??= newBranch()
    } else {
      const next = branch.fixed.get(part) ?? newBranch()
      branch.fixed.set(part, next)
      branch = next
    }
  }
  branch.ends.set(method, { value, names })
}

function find<Value>(
  branch: Branch<Value>,
  method: string,
  parts: readonly string[],
  at: number,
): End<Value> | undefined {
  if (at === parts.length) return branch.ends.get(method)
  const part = parts[at]!
  const fixed = branch.fixed.get(part)
  const found = fixed && find(fixed, method, parts, at + 1)
  return found ?? (branch.named && part !== '' ? find(branch.named, method, parts, at + 1) : undefined)
}

function newBranch<Value>(): Branch<Value> {
  return { fixed: new Map(), ends: new Map() }
}

/** What cannot be decoded is as it came: the contract says whether that is a name. */
function decode(part: string): string {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
