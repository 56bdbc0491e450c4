/**
 * The writes of the mediator. Those that are requested at about the same time share a commit, which is on the
 * disk before they resolve.
 */
import type { MediatorDb, MediatorTx } from '../../foundation/storage/database.ts'
import { attachMemory, isChecked, Memory } from '../../foundation/storage/memory.ts'
import { notesOf, withNotes } from '../../foundation/storage/tx-context.ts'
import { Writer } from '../../foundation/storage/writer.ts'

/** The database of the mediator. */
export type MediatorContents = {
  readonly db: MediatorDb
  /**
   * Begins a transaction of the process that has the role, if there may be others. The result changes when
   * another one has had the role in between.
   *
   * @throws {NotOwnerError}
   */
  enter?: (tx: MediatorTx) => Promise<number>
  /** Resolves when all earlier commits are on the disk. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Runs a write after all earlier ones, entirely or not at all. Resolves when it is on the disk. */
export type Write = <T>(write: (tx: MediatorTx) => Promise<T>) => Promise<T>

export function createWrite({ db, enter, flush }: Omit<MediatorContents, 'close'>): Write {
  const memory = new Memory()
  let epoch: number | undefined
  const writer = new Writer(db, {
    async begin(tx) {
      const current = await enter?.(tx)
      if (current !== epoch) memory.forget()
      epoch = current
      attachMemory(tx, memory)
      if (isChecked()) await memory.check(tx)
    },
    before: () => Promise.resolve(),
    committed: (tx) => memory.committed(notesOf(tx)),
    sync: flush,
    after: () => undefined,
    failed: () => memory.forget(),
  })
  return (write) => writer.write((tx) => withNotes(tx, write))
}
