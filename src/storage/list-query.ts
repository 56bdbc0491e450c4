/** Paging and filters of lists. */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'

/** `offset` is 0 or more; the newest come first with `desc`, the oldest when nothing is said. */
export type Paging = { offset: number; limit: number; order?: 'asc' | 'desc' | undefined }

/** A page of what a query selects, in the order of `columns`, and how many there are in all. */
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

/** The operator and the operand of a condition. Of a pattern `%` alone means something: `_` is common in names. */
export function filterBy(text: string): [operator: '=' | 'like', operand: string | RawBuilder<string>] {
  if (!text.includes('%')) return ['=', text]
  return ['like', sql<string>`${text.replaceAll(/[\\_]/g, String.raw`\$&`)} escape '\\'`]
}
