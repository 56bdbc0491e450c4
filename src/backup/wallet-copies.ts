/**
 * The copies of wallets' files: each is begun when its turn has come, or when somebody is about to write to the wallet, who waits until the file
 * is held as it was.
 */
import PQueue from 'p-queue'
import { isLarge, startCopier, type Copied, type Copier, type Task } from './copier.ts'

/** Large files that are copied at a time. A wallet with another one waits when it is written to meanwhile. */
const largeAtOnce = 4

export type WalletCopies = {
  /** Resolves when a wallet may be written to: its file is held, or will not be copied. Never rejects. */
  hold(walletId: string): Promise<void>
  /** The copy of a wallet's file, begun if it is not yet. @throws when the threads have ended. */
  copy(walletId: string): Promise<Copied>
  /** The wallets of which there is a copy, or a part of one. */
  begun(): Iterable<string>
  /** Ends what is under way; nobody waits any more. */
  close(): Promise<void>
}

/** `small` copies all files but large ones; `taskOf` says where a wallet's file is, and where its copy is to be. */
export function createWalletCopies(small: Copier, taskOf: (walletId: string) => Task): WalletCopies {
  const begun = new Map<string, { held: Promise<void>; copied: Promise<Copied> }>()
  const copiers = new Set<Copier>([small])
  const large = new PQueue({ concurrency: largeAtOnce })
  let isClosed = false
  let onClose = () => {}
  const closing = new Promise<void>((resolve) => (onClose = resolve))

  async function copyBeside(task: Task, onHeld: () => void): Promise<Copied[]> {
    const copier = await startCopier()
    copiers.add(copier)
    try {
      // It may have been too late to be ended with the others.
      if (isClosed) throw new Error('the backup was ended')
      return await copier.copy([task], onHeld)
    } finally {
      copiers.delete(copier)
      await copier.close()
    }
  }

  async function copy(walletId: string, onHeld: () => void): Promise<Copied> {
    const isBeside = await isLarge([taskOf(walletId).from])
    // A wallet that is not open stays so until its file is held.
    const [copied] = isBeside
      ? await large.add(() => copyBeside(taskOf(walletId), onHeld))
      : await small.copy([taskOf(walletId)], onHeld)
    return copied!
  }

  function begin(walletId: string) {
    const known = begun.get(walletId)
    if (known) return known
    let onHeld = () => {}
    const isHeld = new Promise<void>((resolve) => (onHeld = resolve))
    const copied = copy(walletId, onHeld)
    const ended = copied.then(
      () => undefined,
      () => undefined,
    )
    const made = { held: Promise.race([isHeld, ended, closing]), copied }
    begun.set(walletId, made)
    return made
  }

  return {
    hold: async (walletId) => {
      if (!isClosed) await begin(walletId).held
    },
    copy: (walletId) => begin(walletId).copied,
    begun: () => begun.keys(),
    close: async () => {
      isClosed = true
      onClose()
      large.clear()
      await Promise.all([...copiers].map((copier) => copier.close()))
    },
  }
}
