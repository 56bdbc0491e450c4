/** Opens the file of a wallet, and sets aside what cannot be used. */
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Log } from '../base/log.ts'
import { DamagedFileError } from '../storage/damaged-file-error.ts'
import { NewerFileError } from '../storage/newer-file-error.ts'
import { nameAside, setAside, unreadable, unusable } from './set-aside.ts'
import { openWallet, type Environment, type Wallet } from './wallet.ts'

type File = { id: string; path: string; key: Uint8Array; isInDoubt: boolean }

/** `log` is that of whoever wants it open. @throws {Problem} `WalletUnreadable` when it is missing, of a newer release, or damaged; then it has another name afterwards. */
export async function openOrSetAside(
  env: Environment,
  { id, path, key, isInDoubt }: File,
  log: Log,
): Promise<Wallet> {
  // SQLite would make an empty one.
  if (!existsSync(path)) throw unusable(dirname(path), id)
  try {
    if (!statSync(path).isFile()) throw new DamagedFileError(path, 'is not a file')
    return await openWallet(env, id, path, key, isInDoubt)
  } catch (error) {
    if (error instanceof NewerFileError)
      throw unreadable(
        id,
        'It was written by a newer release of the agent, and was left as it is: start that release.',
        error,
      )
    if (!(error instanceof DamagedFileError)) throw error
    const name = nameAside(path)
    log.error(
      { err: error, walletId: id, setAsideAs: name },
      'the file of a wallet is damaged or another’s, and is set aside',
    )
    setAside(path, name)
    throw unusable(dirname(path), id, error)
  }
}
