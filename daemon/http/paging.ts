/** Lists, a page at a time (api.md 1.3): what the query may ask for, and the object that holds a page. */
import { z } from 'zod'
import { withOneSlash } from '../middleware/base-path.ts'

/** A whole number in a query. Typed as the number that it stands for, which is what a client gives. */
export function whole(least: number, most: number, byDefault: number): z.ZodDefault<z.ZodNumber> {
  const read = (text: unknown) => (typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text)
  return z
    .preprocess(read, z.number().int().min(least).max(most))
    .default(byDefault) as unknown as z.ZodDefault<z.ZodNumber>
}

const Order = z.enum(['asc', 'desc']).optional()

/** The query of every list. */
export const Paging = z.object({
  offset: whole(0, Number.MAX_SAFE_INTEGER, 0).describe('How many to skip; none when left out.'),
  limit: whole(1, 1_000, 100).describe('How many to return at most; 100 when left out.'),
  order: Order.describe('`desc` for the newest first; the oldest first when left out (extension).'),
})
export type Paging = z.output<typeof Paging>

/** The same where the Cloud Agent has an `order` too: any text, which it does not look at. Other texts than the two are not refused. */
export const PagingWithAnyOrder = Paging.extend({
  order: Order.catch(undefined).describe(
    '`desc` for the newest first; the oldest first for anything else, or when left out.',
  ),
})

/** A zod type for pages of `item`, named `id` in the API document. */
export function Page<const Kind extends string, Item extends z.ZodType>(kind: Kind, item: Item, id: string) {
  return z
    .object({
      self: z.string(),
      kind: z.literal(kind),
      pageOf: z.string(),
      next: z.string().optional(),
      previous: z.string().optional(),
      contents: z.array(item),
    })
    .meta({ id })
}

export type PageOf<Kind extends string, Item> = {
  self: string
  kind: Kind
  pageOf: string
  next?: string
  previous?: string
  contents: Item[]
}

/** What a page is cut from: the request target, what was asked for, and how many there are in all. */
export type Cut = Paging & { target: string; total: number }

/**
 * Makes a page. `self` and its neighbours are relative references, as the request came; a list whose `self` is
 * something else passes it.
 */
export function toPage<const Kind extends string, Item>(
  kind: Kind,
  { target, offset, limit, total }: Cut,
  contents: Item[],
  self?: string,
): PageOf<Kind, Item> {
  const { pathname, searchParams } = new URL(relative(target), 'http://agent')
  const at = (paging: Partial<Paging>) => {
    const query = new URLSearchParams(searchParams)
    for (const name of ['offset', 'limit'] as const) {
      if (paging[name] === undefined) query.delete(name)
      else query.set(name, String(paging[name]))
    }
    return query.size > 0 ? `${pathname}?${query.toString()}` : pathname
  }
  const hasNext = contents.length === limit && offset + limit < total
  const hasPrevious = total > 0 && offset > 0
  return {
    self: self ?? relative(target),
    kind,
    pageOf: at({}),
    ...(hasNext && { next: at({ offset: offset + limit, limit }) }),
    ...(hasPrevious && { previous: at({ offset: Math.max(offset - limit, 0), limit }) }),
    contents,
  }
}

/** Makes a page of a log, whose next page comes after the item with an id; there is none when `after` is not given. */
export function toPageAfter<const Kind extends string, Item>(
  kind: Kind,
  { target, after }: { target: string; after?: string | undefined },
  contents: Item[],
): PageOf<Kind, Item> {
  const { pathname, searchParams } = new URL(relative(target), 'http://agent')
  const query = new URLSearchParams(searchParams)
  query.delete('after')
  const pageOf = query.size > 0 ? `${pathname}?${query.toString()}` : pathname
  if (after !== undefined) query.set('after', after)
  return {
    self: relative(target),
    kind,
    pageOf,
    ...(after !== undefined && { next: `${pathname}?${query.toString()}` }),
    contents,
  }
}

/** A request target without scheme and host, which proxies are sent. With two slashes at its front it would name a host in a link. */
function relative(target: string): string {
  if (target.startsWith('/')) return withOneSlash(target)
  const { pathname, search } = new URL(target)
  return withOneSlash(pathname + search)
}

/** A page of a list that is in memory as a whole. */
export function cut<Item>(all: readonly Item[], { offset, limit, order }: Paging): Item[] {
  return (order === 'desc' ? all.toReversed() : all).slice(offset, offset + limit)
}

/** A filter of a list; every `%` makes the search slower. */
export const FilterText = z
  .string()
  .max(60_000)
  .refine((text) => text.split('%').length <= 5, 'must not have more than four %')
  .optional()
  .describe('Exact, unless it has % for any text.')

/** `pageOf` of a list that is named as a whole, whatever was asked of it (api.md 1.3). */
export function withoutQuery<P extends { pageOf: string }>(page: P): P {
  return { ...page, pageOf: page.pageOf.replace(/\?.*$/s, '') }
}
