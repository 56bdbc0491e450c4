/** What the tables of both registries have in common: of credential schemas, and of definitions of AnonCreds credentials. */
import type { CreateTableBuilder, Kysely } from 'kysely'

/** A schema or a definition under its name, which an author has registered. */
export interface Registered {
  /** UUID of version 3, made from author, id and version. */
  guid: string
  /** UUIDv7 of the row: sorting by it is sorting by creation. */
  position: string
  id: string
  wallet_id: string
  /** A DID, in the form the author sent it. */
  author: string
  name: string
  /** SemVer. */
  version: string
  /** Empty when the author gave none. */
  description: string
  /** `http` or `did`. */
  resolution_method: string
  /** Instant, ISO 8601. */
  authored: string
}

type Table<Name extends string> = CreateTableBuilder<Name, string>

/** Makes the table of a registry, with the columns that it has besides, and the indexes of both. */
export async function createRegistered<Name extends string>(
  db: Kysely<unknown>,
  name: Name,
  addOwn: (table: Table<Name>) => Table<Name>,
): Promise<void> {
  const table = db.schema
    .createTable(name)
    .addColumn('guid', 'text', (column) => column.primaryKey())
    .addColumn('position', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('wallet_id', 'text', (column) => column.notNull())
    .addColumn('author', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
  await addOwn(table)
    .addColumn('resolution_method', 'text', (column) => column.notNull())
    .addColumn('authored', 'text', (column) => column.notNull())
    .execute()
  // Without the author: an id has one author, whose long-form DID may be longer than PostgreSQL lets an index entry be.
  await db.schema
    .createIndex(`${name}_version`)
    .on(name)
    .columns(['wallet_id', 'id', 'version'])
    .unique()
    .execute()
  await db.schema.createIndex(`${name}_position`).on(name).columns(['wallet_id', 'position']).execute()
}
