/** Queries that are built and compiled once, for what a flow asks again and again: building one with Kysely takes longer than most of them run. */
import { CompiledQuery, type Compilable, type Kysely, type QueryResult } from 'kysely'

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
  return (db, parameters) => {
    known ??= build(db, slots() as Parameters).compile()
    const values = known.parameters.map((value) => (value instanceof Slot ? parameters[value.name as keyof Parameters] : value))
    return db.executeQuery({ ...known, parameters: values })
  }
}

/** A text without parameters, as it is. */
export function plain(text: string): (db: Pick<Kysely<any>, 'executeQuery'>) => Promise<unknown> {
  const query = CompiledQuery.raw(text)
  return (db) => db.executeQuery(query)
}

function slots(): Record<string, Slot> {
  return new Proxy({}, { get: (_, name) => new Slot(String(name)) })
}
