/** Pages of the items of a list that fit, where the daemon has no such filter. */

type Page<Item> = { contents: Item[]; next?: string | undefined; previous?: string | undefined }
type Paging = { offset: number; limit: number }

const pageSize = 1_000

/** The items that fit from `offset` on, at most `limit`, and whether there are more. */
export async function findFitting<Item>(
  ask: (paging: Paging) => Promise<Page<Item>>,
  fits: (item: Item) => boolean,
  { offset, limit }: Paging,
): Promise<{ contents: Item[]; hasMore: boolean }> {
  const found: Item[] = []
  let hasNext = true
  for (let asked = 0; hasNext && found.length <= offset + limit; asked += pageSize) {
    const { contents, next } = await ask({ offset: asked, limit: pageSize })
    found.push(...contents.filter(fits))
    hasNext = next !== undefined
  }
  return { contents: found.slice(offset, offset + limit), hasMore: found.length > offset + limit }
}
