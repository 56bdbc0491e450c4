/** Existing ids, DIDs, links and invitations by name, collected from answers and events for later requests. */
import type { Draw } from './_draw.ts'

/** The number of values per name and owner. The oldest are dropped. */
const kept = 40

const stateOf = (object: Record<string, unknown>) =>
  object['protocolState'] ?? object['state'] ?? object['status']
const idNames = ['recordId', 'presentationId', 'connectionId', 'did', 'id']

export type Found = {
  /** Stores a value of an owner under a name. */
  add(owner: string, name: string, value: string): void
  /** Stores the values in an answer or event. `place` is the path of the request, without a trailing id. */
  learn(owner: string, place: string, body: unknown): void
  /** Removes a value that no longer exists. */
  forget(value: string): void
  /** Whether the owner has a value of this name. */
  has(owner: string, name: string): boolean
  /** A value of the first name that has any, mostly one of the owner. */
  take(draw: Draw, owner: string, ...names: string[]): string | undefined
}

/**
 * `paths` are the path templates of the API, used to parse links. Reserved values are never stored or
 * removed.
 */
export function createFound(paths: readonly string[], reserved: ReadonlySet<string> = new Set()): Found {
  const lists = new Map<string, string[]>()
  const states = new Map<string, string>()
  const links = paths
    .filter((path) => path.endsWith('}'))
    .map((path) => ({
      path,
      pattern: new RegExp(`${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/?#]+)')}(?:[?#]|$)`),
    }))

  function put(key: string, value: string): void {
    const list = lists.get(key) ?? []
    if (list.at(-1) === value) return
    list.push(value)
    if (list.length > kept) list.shift()
    lists.set(key, list)
  }

  const add: Found['add'] = (owner, name, value) => {
    if (reserved.has(value)) return
    put(`${owner} ${name}`, value)
    put(`* ${name}`, value)
  }

  function learnText(owner: string, name: string, value: string): void {
    add(owner, name, value)
    for (const { path, pattern } of value.includes('/') ? links : []) {
      const id = pattern.exec(value)?.at(-1)
      if (id !== undefined && id.length > 12)
        add(owner, `id of ${path.slice(0, path.lastIndexOf('/'))}`, decode(id))
    }
    const oob = /[?&]_oob=([\w=-]+)/.exec(value)?.[1]
    if (oob !== undefined) add(owner, '_oob', oob)
    const web = /^did:web:[^:]+:web:([^:#]+)$/.exec(value)?.[1]
    if (web !== undefined) add(owner, 'web name', decode(web))
  }

  /** Moves an id from its previous state to the current one. */
  function move(owner: string, name: string, id: string, state: string): void {
    const before = states.get(id)
    if (before === state) return
    for (const who of [owner, '*']) remove(`${who} ${name} ${before}`, id)
    states.set(id, state)
    add(owner, `${name} ${state}`, id)
  }

  function remove(key: string, value: string): void {
    const list = lists.get(key)
    if (list?.includes(value))
      lists.set(
        key,
        list.filter((other) => other !== value),
      )
  }

  const learn: Found['learn'] = (owner, place, body) => {
    if (Array.isArray(body)) for (const item of body.slice(-20)) learn(owner, place, item)
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return
    const object = body as Record<string, unknown>
    for (const [name, value] of Object.entries(object)) {
      if (typeof value === 'string') learnText(owner, name, value)
      else if (Array.isArray(value) && typeof value[0] === 'string') learnText(owner, name, value[0])
      else learn(owner, '', value)
    }
    // What a page holds is of the page's place.
    if (Array.isArray(object['contents'])) learn(owner, place, object['contents'])
    for (const name of ['id', 'guid'])
      if (typeof object[name] === 'string') add(owner, `${name} of ${place}`, object[name])
    const state = stateOf(object)
    if (typeof state !== 'string') return
    for (const name of idNames) if (typeof object[name] === 'string') move(owner, name, object[name], state)
  }

  const take: Found['take'] = (draw, owner, ...names) => {
    const [first, second] = draw.share(0.9) ? [owner, '*'] : ['*', owner]
    for (const name of names) {
      const list = [first, second]
        .map((one) => lists.get(`${one} ${name}`))
        .find((one) => one !== undefined && one.length > 0)
      // What is new is still in the state that it was found in.
      if (list)
        return list[
          Math.max(0, list.length - 1 - Math.floor(draw.below(list.length) * (draw.share(0.5) ? 0.2 : 1)))
        ]
    }
    return undefined
  }
  const forget: Found['forget'] = (value) => {
    if (reserved.has(value)) return
    for (const key of lists.keys()) remove(key, value)
  }
  const has: Found['has'] = (owner, name) => (lists.get(`${owner} ${name}`)?.length ?? 0) > 0
  return { add, learn, forget, has, take }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
