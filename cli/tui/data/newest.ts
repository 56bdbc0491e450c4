/** The newest of what the API lists oldest first. */

type Page<Item> = { contents: Item[]; next?: string | undefined }

/** How many of a list are shown. */
const most = 1_000

/** The newest items of a list, oldest first. Of a long list the end is looked for, since no page says how many there are. */
export async function newest<Item>(
  ask: (query: { offset: number; limit: number }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const first = await ask({ offset: 0, limit: most })
  if (first.next === undefined) return first.contents
  const isThere = async (offset: number) => (await ask({ offset, limit: 1 })).contents.length > 0
  let [there, beyond] = [most, 2 * most]
  while (await isThere(beyond)) [there, beyond] = [beyond, 2 * beyond]
  while (beyond - there > 1) {
    const middle = Math.floor((there + beyond) / 2)
    if (await isThere(middle)) there = middle
    else beyond = middle
  }
  return (await ask({ offset: beyond - most, limit: most })).contents
}
