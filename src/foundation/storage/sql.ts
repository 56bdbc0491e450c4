/** SQL that differs between SQLite and PostgreSQL. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { isSqlite } from './dialect.ts'

/** The strings of a JSON array, as a subquery for `in`. */
export function stringsOf(db: Kysely<any>, json: string): RawBuilder<string> {
  return isSqlite(db)
    ? sql`(select value from json_each(${json}))`
    : sql`(select jsonb_array_elements_text(cast(${json} as jsonb)))`
}

/** The elements of a JSON array, as a table: `value` as JSON, and `position` from 1. */
export function elementsOf(db: Kysely<any>, json: string): RawBuilder<{ value: unknown; position: number }> {
  return isSqlite(db)
    ? sql`(select value, key + 1 as position from json_each(${json}))`
    : sql`(select value, position from jsonb_array_elements(cast(${json} as jsonb)) with ordinality as t (value, position))`
}

/** The number after the last one of a table's column `sequence`. */
export function nextSequence(table: string): RawBuilder<number> {
  return sql`(select coalesce(max(sequence), 0) + 1 from ${sql.table(table)})`
}

/** The larger one of two numbers that are not null. */
export function larger(db: Kysely<any>, a: RawBuilder<number>, b: RawBuilder<number>): RawBuilder<number> {
  return isSqlite(db) ? sql`max(${a}, ${b})` : sql`greatest(${a}, ${b})`
}

/** `like`, which ignores the case of ASCII letters in SQLite. */
export function likeOf(db: Kysely<any>): 'like' | 'ilike' {
  return isSqlite(db) ? 'like' : 'ilike'
}
