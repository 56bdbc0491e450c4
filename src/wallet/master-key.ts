/** The master key, which seals every wallet's key: from the environment, or from a file made on first start (decisions.md §3). */
import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fromBase64, toBase64url } from '../base/bytes.ts'
import type { Config } from '../base/config.ts'
import { deriveSealKey, seal, unseal } from '../base/seal.ts'
import { StartError } from '../base/start-error.ts'
import type { AgentDb } from '../storage/database.ts'

const checkName = 'master-key-check'

/**
 * The 32 bytes of the master key, proved to be the one that this data folder was made with.
 *
 * @throws {StartError} when it is another, or cannot be read.
 */
export async function openMasterKey(config: Config, db: AgentDb): Promise<Uint8Array> {
  const path = config.AGENT_MASTER_KEY_FILE ?? join(config.AGENT_DATA_DIR, 'master.key')
  const check = await db.selectFrom('setting').select('value').where('name', '=', checkName).executeTakeFirst()
  const key = config.AGENT_MASTER_KEY ? fromBase64(config.AGENT_MASTER_KEY.reveal()) : readKey(path, check === undefined)
  const checkKey = deriveSealKey(key, checkName)
  if (!check) {
    await db
      .insertInto('setting')
      .values({ name: checkName, value: seal(checkKey, checkName, randomBytes(16)) })
      .execute()
    return key
  }
  try {
    unseal(checkKey, checkName, check.value)
    return key
  } catch {
    const source = config.AGENT_MASTER_KEY ? 'in AGENT_MASTER_KEY' : `in ${path}`
    throw new StartError(
      `The master key ${source} is not the one that ${config.AGENT_DATA_DIR} was made with. Give the right one; nothing was changed.`,
      4,
    )
  }
}

function readKey(path: string, mayMake: boolean): Uint8Array {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && mayMake) return makeKey(path)
    throw new StartError(`The master key cannot be read from ${path}. Put the file back, or give the key in AGENT_MASTER_KEY.`, 4, {
      cause: error,
    })
  }
  try {
    const key = fromBase64(text)
    if (key.length === 32) return key
  } catch {
    // Reported below: the text itself must not be in the message.
  }
  throw new StartError(`The file ${path} does not hold a master key (32 bytes in base64url).`, 4)
}

function makeKey(path: string): Uint8Array {
  const key = randomBytes(32)
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, `${toBase64url(key)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  // The mode at creation is cut by the process's mask, which must not leave it wider than this.
  chmodSync(path, 0o600)
  return key
}
