/** Paging and filters of lists. */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { likeOf } from './sql.ts'

/** `offset` begins at 0. The default order is `asc`, the oldest first. */
export type Paging = { offset: number; limit: number; order?: 'asc' | 'desc' | undefined }

/** A page of the rows of a query, ordered by `columns`, and the total number of rows. */
export async function pageOf<DB, Table extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Table, Row>,
  columns: readonly string[],
  { offset, limit, order = 'asc' }: Paging,
): Promise<{ rows: Row[]; total: number }> {
  const counted = query.clearSelect().select((eb) => eb.fn.countAll().as('total'))
  const { total } = await counted.$castTo<{ total: unknown }>().executeTakeFirstOrThrow()
  const ordered = columns.reduce((each, column) => each.orderBy(sql.ref(column), order), query)
  return { rows: await ordered.offset(offset).limit(limit).execute(), total: Number(total) }
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
