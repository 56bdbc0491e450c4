/** Paging and filters of lists. */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { likeOf } from './sql.ts'

/** `offset` begins at 0. The default order is `asc`, the oldest first. */
export type Paging = { offset: number; limit: number; order?: 'asc' | 'desc' | undefined }

/**
 * A page of the rows of a query, ordered by `columns`. `total` counts the rows up to the one after the page:
 * a page needs to know no more, and a count of all rows would read them all.
 */
export async function pageOf<DB, Table extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Table, Row>,
  columns: readonly string[],
  { offset, limit, order = 'asc' }: Paging,
): Promise<{ rows: Row[]; total: number }> {
  const ordered = columns.reduce((each, column) => each.orderBy(sql.ref(column), order), query)
  const read = await ordered
    .offset(offset)
    .limit(limit + 1)
    .execute()
  const isBeyond = read.length === 0 && offset > 0
  const total = isBeyond ? await countOne(query) : offset + read.length
  return { rows: read.slice(0, limit), total }
}

/** 1 if a query has rows, otherwise 0. */
async function countOne<DB, Table extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Table, Row>,
): Promise<number> {
  const one = sql<number>`1`.as('one')
  return (await query.clearSelect().select(one).limit(1).execute()).length
}

/**
 * The operator and operand that compare a column with a text. `%` in the text matches any characters; `_` has
 * no special meaning.
 */
export function filterBy(
  db: Kysely<any>,
  text: string,
): [operator: '=' | 'like' | 'ilike', operand: string | RawBuilder<string>] {
  if (!text.includes('%')) return ['=', text]
  return [likeOf(db), sql<string>`${text.replaceAll(/[\\_]/g, String.raw`\$&`)} escape '\\'`]
}
