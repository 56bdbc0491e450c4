/** Filters of lists: a text that must be there exactly, or a pattern in which `%` stands for anything. */
import { sql, type RawBuilder } from 'kysely'

/** The operator and the operand of a condition. Of a pattern `%` alone means something: `_` is common in names. */
export function matchOf(text: string): [operator: '=' | 'like', operand: string | RawBuilder<string>] {
  if (!text.includes('%')) return ['=', text]
  return ['like', sql<string>`${text.replaceAll(/[\\_]/g, String.raw`\$&`)} escape '\\'`]
}
