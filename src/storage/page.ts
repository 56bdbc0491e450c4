/** Pages of lists. */
import type { SelectQueryBuilder } from 'kysely'

/** `offset` is 0 or more. */
export type Paging = { offset: number; limit: number }

/** A page of what a query selects, in its order, and how many there are in all. */
export async function pageOf<DB, Table extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Table, Row>,
  { offset, limit }: Paging,
): Promise<{ rows: Row[]; total: number }> {
  const counted = query
    .clearSelect()
    .clearOrderBy()
    .select((eb) => eb.fn.countAll().as('total'))
  const { total } = await counted.$castTo<{ total: unknown }>().executeTakeFirstOrThrow()
  return { rows: await query.offset(offset).limit(limit).execute(), total: Number(total) }
}
