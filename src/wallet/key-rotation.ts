/**
 * Rotation of the master key while the agent runs. Only the row of the agent key changes.
 *
 * A key in a file or keyring is replaced in four steps: keep a copy of it beside it, for earlier backups;
 * write the next key beside it; rewrap the row; rename the next key. After a crash in between, the next start
 * tries both keys. A key that only the operator can replace (a variable, or a read-only file) must be given;
 * the previous key stays valid until a start with the given one.
 */
import PQueue from 'p-queue'
import * as z from 'zod'
import { fromBase64 } from '../foundation/bytes.ts'
import type { Config } from '../foundation/config/config.ts'
import { across } from '../foundation/probe.ts'
import { Problem } from '../foundation/problem.ts'
import { newSealKey } from '../foundation/seal.ts'
import { Secret } from '../foundation/secret.ts'
import { StartError } from '../foundation/start-error.ts'
import { isSqlite } from '../foundation/storage/dialect.ts'
import { diskFull, isDiskFull } from '../foundation/storage/file-errors.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import { findAgentKey, finishRotation, installNextKey, isMasterKey, rewrap } from './agent-key.ts'
import { getMasterKeySource, type MasterKeySource } from './master-key.ts'
import { systemReason } from '../foundation/system-reason.ts'

/** 32 bytes in base64 or base64url. Error messages do not contain the value. */
const MasterKeyText = z
  .string()
  .regex(/^(?:[\w-]{43}|[A-Za-z0-9+/]{43})=?$/, 'is not 32 bytes in base64url')
  .transform((text) => new Secret(text))

export const RotateMasterKey = z
  .object({
    newKey: MasterKeyText.optional().describe(
      '32 bytes, base64url. A random key when absent, if the master key is in a file or the keyring.',
    ),
  })
  .meta({ id: 'RotateMasterKeyRequest' })

export const MasterKeyRotation = z
  .object({
    source: z
      .string()
      .describe(
        'Where the master key is stored: `AGENT_MASTER_KEY`, the path of a file, or the keyring and its entry.',
      ),
    isReplaced: z
      .boolean()
      .describe(
        'Whether the new key is stored there already. If not, the operator must store it before the next start; both keys are valid until then.',
      ),
    keptKey: z
      .string()
      .optional()
      .describe(
        'Where the replaced key is kept, which earlier backups need: the path of a file, or the keyring and an entry. Absent when the daemon did not replace it, or it was lost.',
      ),
  })
  .meta({ id: 'MasterKeyRotation' })
export type MasterKeyRotation = z.infer<typeof MasterKeyRotation>

/** @throws {Problem} 422 when a key must be given, or is the current one. */
export type Rotate = (newKey?: Secret) => Promise<MasterKeyRotation>

/** Makes the function that rotates the master key of an agent; one at a time. */
export function createRotation(config: Config, db: AgentDb, agentKey: Uint8Array): Rotate {
  const rotations = new PQueue({ concurrency: 1 })

  async function rotate(given: Secret | undefined): Promise<MasterKeyRotation> {
    await finishEarlier()
    const source = await getMasterKeySource(config, db)
    const key = given ? fromBase64(given.reveal()) : newSealKey()
    try {
      if (given && (await isMasterKey(db, key)))
        throw newKeyRequired('newKey is the current master key. Use another one.')
      const { obstacle, keptKey } = await prepare(source, key)
      if (obstacle !== undefined && !given)
        throw newKeyRequired(
          `The daemon cannot replace the master key: ${obstacle}. Send the new key as newKey, then store it there yourself.`,
        )
      const keepsPrevious = obstacle !== undefined
      await across('key-row', {}, () =>
        db.transaction().execute((tx) => rewrap(tx, key, agentKey, { keepsPrevious })),
      )
      if (keepsPrevious) return { source: source.name, isReplaced: false }
      await installNextKey(db, source)
      return { source: source.name, isReplaced: true, ...(keptKey !== undefined && { keptKey }) }
    } finally {
      key.fill(0)
    }
  }

  /**
   * Keeps the present key and writes the next one, or returns the reason why only the operator can replace
   * it.
   */
  async function prepare(source: MasterKeySource, key: Uint8Array): Promise<Prepared> {
    const { next, name } = source
    if (!isSqlite(db)) return { obstacle: 'the other nodes have it too' }
    if (!next) return { obstacle: 'it is in the variable AGENT_MASTER_KEY' }
    const replaced = await readPresent(source)
    try {
      return await orObstacle(name, async () => {
        const keptKey = replaced && (await next.keep(replaced))
        await across('next-key', {}, () => next.write(key))
        return { keptKey }
      })
    } finally {
      replaced?.fill(0)
    }
  }

  /** The present master key. Undefined if it is lost. */
  async function readPresent(source: MasterKeySource): Promise<Uint8Array | undefined> {
    try {
      const key = await source.read()
      if (await isMasterKey(db, key)) return key
      key.fill(0)
      return undefined
    } catch (error) {
      if (error instanceof StartError) return undefined
      throw error
    }
  }

  /**
   * An earlier rotation may have stopped half-way, for example on a full disk. A lost master key is ignored:
   * this rotation replaces it.
   */
  async function finishEarlier(): Promise<void> {
    const opened = await findAgentKey(config, db).catch((error: unknown) => {
      if (!(error instanceof StartError)) throw error
    })
    if (!opened) return
    await finishRotation(db, opened)
    opened.agentKey.fill(0)
  }

  return (newKey) => rotations.add(() => rotate(newKey))
}

type Prepared = { obstacle?: string; keptKey?: string | undefined }

/**
 * Writes keys. Returns the reason if only the operator can.
 *
 * @throws {Problem} `InsufficientStorage`, `KeyringUnavailable`
 */
async function orObstacle(name: string, write: () => Promise<Prepared>): Promise<Prepared> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof StartError)
      throw new Problem('error:MasterKeyError:KeyringUnavailable', `${error.message} Nothing was changed.`, {
        cause: error,
      })
    const { code = '' } = error as NodeJS.ErrnoException
    if (isDiskFull(error)) throw diskFull(error)
    if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) throw error
    return { obstacle: `the folder of ${name} cannot be written: ${systemReason(error)}` }
  }
}

function newKeyRequired(detail: string): Problem {
  return new Problem('error:MasterKeyError:NewKeyRequired', detail)
}
