/** SQL for PostgreSQL from the queries that the stores have in common. */
import { ColumnNode, type OnConflictNode, PostgresQueryCompiler, type SchemableIdentifierNode } from 'kysely'

export type CompilerOptions = {
  /** Tables whose names differ, because all tables are in one schema. */
  tables?: Readonly<Record<string, string>>
  /** The column that precedes the columns of every key. */
  keyColumn?: string
}

export class Compiler extends PostgresQueryCompiler {
  readonly #options: CompilerOptions

  constructor(options: CompilerOptions) {
    super()
    this.#options = options
  }

  protected override visitSchemableIdentifier(node: SchemableIdentifierNode): void {
    const name = this.#options.tables?.[node.identifier.name]
    super.visitSchemableIdentifier(
      name === undefined ? node : { ...node, identifier: { ...node.identifier, name } },
    )
  }

  protected override visitOnConflict(node: OnConflictNode): void {
    const { keyColumn } = this.#options
    if (!node.columns || keyColumn === undefined) return super.visitOnConflict(node)
    super.visitOnConflict({ ...node, columns: [ColumnNode.create(keyColumn), ...node.columns] })
  }
}
