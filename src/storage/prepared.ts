/** Queries that are built and compiled once, for what a flow asks again and again: building one with Kysely takes longer than most of them run. */
import { CompiledQuery, type Compilable, type Kysely, type QueryResult } from 'kysely'
import { runAtOnce } from './dialect.ts'

/** Stands for a parameter while a query is built. */
class Slot {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/**
 * A query with parameters by name. `build` is called once, with a database of the kind and something in the place of every parameter, which it
 * may put wherever a value may stand, but not look at: the text is the same whatever the values are.
 */
export function prepared<Parameters extends object, Tables, Row>(
  build: (db: Kysely<Tables>, parameters: Parameters) => Compilable<Row>,
): (db: Kysely<Tables>, parameters: Parameters) => Promise<QueryResult<Row>> {
  let known: CompiledQuery<Row> | undefined
  return async (db, parameters) => {
    known ??= build(db, slots() as Parameters).compile()
    const values = known.parameters.map((value) => (value instanceof Slot ? parameters[value.name as keyof Parameters] : value))
    return run(db, { ...known, parameters: values })
  }
}

/** A text without parameters, as it is. */
export function plain(text: string): (db: Kysely<any>) => Promise<unknown> {
  const query = CompiledQuery.raw(text)
  return async (db) => run(db, query)
}

function run<Row>(db: Kysely<any>, query: CompiledQuery<Row>): QueryResult<Row> | Promise<QueryResult<Row>> {
  return runAtOnce(db, query) ?? db.executeQuery(query)
}

function slots(): Record<string, Slot> {
  return new Proxy({}, { get: (_, name) => new Slot(String(name)) })
}
