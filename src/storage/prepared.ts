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
  let known: ReturnType<typeof compile<Row>> | undefined
  return async (db, parameters) => {
    known ??= compile(build(db, slots() as Parameters))
    return run(db, known.query, known.fill(parameters as Record<string, unknown>))
  }
}

/** A text without parameters, as it is. */
export function plain(text: string): (db: Kysely<any>) => Promise<unknown> {
  const query = CompiledQuery.raw(text)
  return async (db) => run(db, query, [])
}

function run<Row>(
  db: Kysely<any>,
  query: CompiledQuery<Row>,
  values: unknown[],
): QueryResult<Row> | Promise<QueryResult<Row>> {
  return runAtOnce(db, query, values) ?? db.executeQuery({ ...query, parameters: values })
}

/** A query, and what gives the values in it, in their order. */
function compile<Row>(built: Compilable<Row>) {
  const query = built.compile()
  const places = query.parameters.map((value) => (value instanceof Slot ? { name: value.name } : { value }))
  const fill = (parameters: Record<string, unknown>) =>
    places.map((place) => ('name' in place ? parameters[place.name] : place.value))
  return { query, fill }
}

function slots(): Record<string, Slot> {
  return new Proxy({}, { get: (_, name) => new Slot(String(name)) })
}
