/** Paged lists: their query parameters, and the object of a page. */
import * as z from 'zod'
import { withOneSlash } from '../middleware/base-path.ts'

/** A whole number in a query. Its input type is a number, because clients pass numbers. */
export function whole(least: number, most: number, byDefault: number): z.ZodDefault<z.ZodNumber> {
  const read = (text: unknown) => (typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text)
  return z
    .preprocess(read, z.number().int().min(least).max(most))
    .default(byDefault) as unknown as z.ZodDefault<z.ZodNumber>
}

const Order = z.enum(['asc', 'desc']).optional()

/** The query of every list. */
export const Paging = z.object({
  offset: whole(0, Number.MAX_SAFE_INTEGER, 0).describe('Items to skip; default 0.'),
  limit: whole(1, 1_000, 100).describe('Maximum number of items; default 100.'),
  order: Order.describe('`desc`: newest first. Default: oldest first (extension).'),
})
export type Paging = z.output<typeof Paging>

/** For lists whose `order` the Cloud Agent accepts and ignores: other values are accepted too. */
export const PagingWithAnyOrder = Paging.extend({
  order: Order.catch(undefined).describe('`desc`: newest first. Otherwise, and by default: oldest first.'),
})

/** A zod type for pages of `item`, named `id` in the OpenAPI document. */
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

/** The request of a page: its target, its parsed query, and the number of items, up to the one after the page. */
export type Cut = Paging & { target: string; total: number }

/**
 * Makes a page. Its links are relative references, in the form of the request target; `self` replaces its own
 * link.
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

/**
 * Makes a page of a log. The next page begins after the item with the id `after`. Without `after`, there is
 * none.
 */
export function toPageAfter<const Kind extends string, Item>(
  kind: Kind,
  { target, after }: { target: string; after?: string | undefined },
  contents: Item[],
): PageOf<Kind, Item> {
  const { pathname, searchParams } = new URL(relative(target), 'http://agent')
  const query = new URLSearchParams(searchParams)
  for (const name of ['after', 'offset']) query.delete(name)
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

/**
 * A request target without the scheme and host that proxies receive, and with one leading slash: two would
 * begin a host in a link.
 */
function relative(target: string): string {
  if (target.startsWith('/')) return withOneSlash(target)
  const { pathname, search } = new URL(target)
  return withOneSlash(pathname + search)
}

/** A page of a list in memory. */
export function cut<Item>(all: readonly Item[], { offset, limit, order }: Paging): Item[] {
  return (order === 'desc' ? all.toReversed() : all).slice(offset, offset + limit)
}

/** A filter of a list. Each `%` makes the search slower. */
export const FilterText = z
  .string()
  .max(60_000)
  .refine((text) => text.split('%').length <= 5, 'must not have more than four %')
  .optional()
  .describe('An exact value, or a pattern with % for any text.')

/** The page with a `pageOf` without query, as some lists of the Cloud Agent have it. */
export function withoutQuery<P extends { pageOf: string }>(page: P): P {
  return { ...page, pageOf: page.pageOf.replace(/\?.*$/s, '') }
}
