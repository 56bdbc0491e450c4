/** Queries that Kysely builds and compiles once. Building a query takes longer than most queries run. */
import { createHash } from 'node:crypto'
import { CompiledQuery, type Compilable, type Kysely, type QueryResult } from 'kysely'
import { isSqlite, runAtOnce } from './dialect.ts'
import type { NamedQuery } from './postgres/dialect.ts'

/** The placeholder of a parameter while a query is built. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/**
 * Creates a query with named parameters. `build` runs once for each kind of database, with a placeholder for
 * each parameter, which it may use as a value but must not read: the text of the query does not depend on the
 * values.
 */
export function prepared<Parameters extends object, Tables, Row>(
  build: (db: Kysely<Tables>, parameters: Parameters) => Compilable<Row>,
): (db: Kysely<Tables>, parameters: Parameters) => Promise<QueryResult<Row>> {
  const known: Partial<Record<'sqlite' | 'postgres', ReturnType<typeof compile<Row>>>> = {}
  return async (db, parameters) => {
    const { query, fill } = (known[isSqlite(db) ? 'sqlite' : 'postgres'] ??= compile(
      build(db, placeholders() as Parameters),
    ))
    return run(db, query, fill(parameters as Record<string, unknown>))
  }
}

export function plain(text: string): (db: Kysely<any>) => Promise<unknown> {
  const query = CompiledQuery.raw(text)
  return async (db) => run(db, query, [])
}

function run<Row>(
  db: Kysely<any>,
  query: CompiledQuery<Row> & NamedQuery,
  values: unknown[],
): QueryResult<Row> | Promise<QueryResult<Row>> {
  return runAtOnce(db, query, values) ?? db.executeQuery({ ...query, parameters: values })
}

/** Compiles a query. `fill` returns its values in order. */
function compile<Row>(built: Compilable<Row>) {
  const compiled = built.compile()
  const query = { ...compiled, preparedName: createHash('sha256').update(compiled.sql).digest('base64url') }
  const places = query.parameters.map((value) =>
    value instanceof Placeholder ? { name: value.name } : { value },
  )
  const fill = (parameters: Record<string, unknown>) =>
    places.map((place) => ('name' in place ? parameters[place.name] : place.value))
  return { query, fill }
}

function placeholders(): Record<string, Placeholder> {
  return new Proxy({}, { get: (_, name) => new Placeholder(String(name)) })
}
