/**
 * Rotation of the master key while everything runs: only the row of the agent key changes.
 *
 * A key that is in a file is replaced here: the next key beside it, then the row, then the name; killed in between, the next start finds
 * out by which of the two opens the row. A key that only the operator can replace (a variable, or a file that may not be written) is
 * given, and the one before it opens the folder too, until a start with the given one.
 */
import PQueue from 'p-queue'
import { z } from 'zod'
import { fromBase64 } from '../base/bytes.ts'
import type { Config } from '../base/config.ts'
import { across } from '../base/probe.ts'
import { Problem } from '../base/problem.ts'
import { newSealKey } from '../base/seal.ts'
import { Secret } from '../base/secret.ts'
import { StartError } from '../base/start-error.ts'
import { diskFull } from '../storage/file-errors.ts'
import type { AgentDb } from '../storage/database.ts'
import { findAgentKey, finish, opens, rewrap, settle } from './agent-key.ts'
import { getMasterKeySource, type NextKey } from './master-key.ts'
import { systemReason } from '../base/reason.ts'

/** 32 bytes in base64 or base64url. What was given is in no message. */
const MasterKeyText = z
  .string()
  .regex(/^(?:[\w-]{43}|[A-Za-z0-9+/]{43})=?$/, 'is not 32 bytes in base64url')
  .transform((text) => new Secret(text))

export const RotateMasterKey = z
  .object({
    newKey: MasterKeyText.optional().describe(
      '32 bytes, base64url. Where the key is in a file, a random one when it is left out.',
    ),
  })
  .meta({ id: 'RotateMasterKeyRequest' })

export const MasterKeyRotation = z
  .object({
    source: z
      .string()
      .describe(
        'Where the master key is: `AGENT_MASTER_KEY`, the path of a file, or the keyring and the entry there.',
      ),
    isReplaced: z
      .boolean()
      .describe(
        'Whether the new key is there already. If not, the operator puts it there before the next start, and both keys open the folder until then.',
      ),
  })
  .meta({ id: 'MasterKeyRotation' })
export type MasterKeyRotation = z.infer<typeof MasterKeyRotation>

/** @throws {Problem} 422 when a key must be given, or is the present one. */
export type Rotate = (newKey?: Secret) => Promise<MasterKeyRotation>

/** Makes the function that rotates the master key of an agent; one at a time. */
export function createRotation(config: Config, db: AgentDb, agentKey: Uint8Array): Rotate {
  const turns = new PQueue({ concurrency: 1 })

  async function rotate(given: Secret | undefined): Promise<MasterKeyRotation> {
    await settleEarlier()
    const source = await getMasterKeySource(config, db)
    const key = given ? fromBase64(given.reveal()) : newSealKey()
    try {
      if (given && (await opens(db, key)))
        throw mustGive('newKey is the present master key. Give another one.')
      const cannot = source.next
        ? await putBeside(source.next, key, source.name)
        : 'it is in the variable AGENT_MASTER_KEY'
      if (cannot !== undefined && !given)
        throw mustGive(
          `The daemon cannot replace the master key: ${cannot}. Give the new key in newKey, and put it there yourself afterwards.`,
        )
      const keepsPrevious = cannot !== undefined
      await across('key-row', {}, () =>
        db.transaction().execute((tx) => rewrap(tx, key, agentKey, { keepsPrevious })),
      )
      if (!keepsPrevious) await finish(db, source)
      return { source: source.name, isReplaced: !keepsPrevious }
    } finally {
      key.fill(0)
    }
  }

  /** One before may have failed half-way, for want of room on the disk. A key that was lost while the daemon runs is no hindrance: this is the way out. */
  async function settleEarlier(): Promise<void> {
    const opened = await findAgentKey(config, db).catch((error: unknown) => {
      if (!(error instanceof StartError)) throw error
    })
    if (!opened) return
    await settle(db, opened)
    opened.agentKey.fill(0)
  }

  return (newKey) => turns.add(() => rotate(newKey))
}

/** Puts a key beside the present one, or says why only the operator can. @throws {Problem} `InsufficientStorage`, `KeyringUnavailable` */
async function putBeside(next: NextKey, key: Uint8Array, name: string): Promise<string | undefined> {
  try {
    await across('next-key', {}, () => next.write(key))
    return undefined
  } catch (error) {
    if (error instanceof StartError)
      throw new Problem('error:MasterKeyError:KeyringUnavailable', `${error.message} Nothing was changed.`, {
        cause: error,
      })
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOSPC', 'EDQUOT'].includes(code)) throw diskFull(error)
    if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) throw error
    return `the folder of ${name} cannot be written: ${systemReason(error)}`
  }
}

function mustGive(detail: string): Problem {
  return new Problem('error:MasterKeyError:NewKeyRequired', detail)
}
