/** What the routes of the enterprise suite have in common: lists, and waiting for an answer. */
import { z } from 'zod'
import type { Enterprise } from '../../src/enterprise/enterprise.ts'
import { openFor, type Session } from '../../src/enterprise/session.ts'
import { Page, toPage, whole, type Paging } from '../http/paging.ts'

/** The longest wait, in seconds: shorter than what proxies commonly wait for an answer. */
const longestWait = 55

export const Wait = z.object({
  wait: whole(0, longestWait, 0).describe(
    'How many seconds to wait for an answer that is not there yet; none when left out.',
  ),
})

export const Collection = <Item extends z.ZodType>(item: Item, id: string) => Page('Collection', item, id)

/** A page whose URLs are absolute, as the suite's `self` are. */
export function toCollection<Item>(self: string, cut: Paging & { total: number }, contents: Item[]) {
  const query = new URLSearchParams({ offset: String(cut.offset), limit: String(cut.limit) })
  const page = toPage(
    'Collection',
    { ...cut, target: `${new URL(self).pathname}?${query.toString()}` },
    contents,
    self,
  )
  const absolute = (target: string | undefined) => target && new URL(target, self).href
  const [next, previous] = [absolute(page.next), absolute(page.previous)]
  return { ...page, pageOf: self, ...(next && { next }), ...(previous && { previous }) }
}

/** Reads a session; when it waits for its answer still, reads it again when that has come, or `seconds` later. */
export async function watch(
  { waiters }: Enterprise,
  {
    id,
    read,
    seconds,
    whenGone,
  }: { id: string; read: () => Promise<Session>; seconds: number; whenGone: () => AbortSignal },
): Promise<Session> {
  if (seconds === 0) return read()
  const signal = whenGone()
  // Waits before it looks: what comes in between must not be missed.
  const enough = new AbortController()
  const told = waiters.wait(id, seconds * 1_000, AbortSignal.any([signal, enough.signal]))
  try {
    const session = await read()
    const open = openFor(session)
    if (open === 0) return session
    const timer = setTimeout(() => enough.abort(), Math.min(open, seconds * 1_000))
    await told
    clearTimeout(timer)
    return await read()
  } finally {
    enough.abort()
  }
}
