/**
 * An in-memory `Pluto.Store` for the SDK: its four functions, and the part of the query language that Pluto
 * uses.
 */
import type { Pluto } from '@hyperledger/identus-sdk'

type Row = { uuid: string } & Record<string, unknown>
/**
 * Members that must be equal, and `$and` and `$or` of selectors. An empty `$or` matches nothing: Pluto uses
 * it to query the keys of no DID.
 */
type Selector = Record<string, unknown> & { $and?: Selector[]; $or?: Selector[] }

/** Makes an empty store. */
export function memoryStore(): Pluto.Store {
  const tables = new Map<string, Row[]>()
  const rows = (table: string) => tables.get(table) ?? tables.set(table, []).get(table)!
  const store = {
    query: async (table: string, query?: { selector?: Selector }) =>
      structuredClone(rows(table).filter((row) => fits(row, query?.selector))),
    insert: async (table: string, row: Row) => void rows(table).push(structuredClone(row)),
    update: async (table: string, row: Row) =>
      void Object.assign(
        rows(table).find(({ uuid }) => uuid === row.uuid)!,
        structuredClone(row),
      ),
    delete: async (table: string, uuid: string) =>
      void tables.set(
        table,
        rows(table).filter((row) => row.uuid !== uuid),
      ),
  }
  return store as unknown as Pluto.Store
}

function fits(row: Row, { $and = [], $or, ...equal }: Selector = {}): boolean {
  return (
    Object.entries(equal).every(([name, value]) => row[name] === value) &&
    $and.every((selector) => fits(row, selector)) &&
    ($or?.some((selector) => fits(row, selector)) ?? true)
  )
}
