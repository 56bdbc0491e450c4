/** Moves a wallet from one daemon to another: exports it with `move` into a temporary file, and imports that. */
import { randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { DaemonUnreachable, ProblemError } from '../daemon/client/client.ts'
import type { Answer, Daemon } from './client/api.ts'
import { CommandError } from './errors/errors.ts'

export type Wallet = Answer<'GET /wallets/{walletId}'>

/** One of the two agents, by the name of its profile or its address. */
export type Side = Pick<Daemon, 'call' | 'getFileClient'> & { name: string }

/** How long the command waits for the outcome of an import whose answer was lost, and how often it asks. */
const [outcomeMs, askAgainMs] = [15_000, 1_000]

/**
 * Checks that both keys are the administrators', and that the other agent does not use a wallet of this id.
 *
 * @returns the wallet at the other agent if an earlier move was completed
 * @throws {ProblemError}, {DaemonUnreachable}, {CommandError}
 */
export async function checkMove(from: Side, to: Side, id: string): Promise<Wallet | undefined> {
  for (const { call } of [from, to]) await call('GET /iam/entities', { query: { limit: 1 } })
  const here = await from.call('GET /wallets/{walletId}', { path: { walletId: id } })
  const there = await findWallet(to, id)
  if (!there || there.movedAt !== undefined) return undefined
  if (here.movedAt !== undefined && isSame(here, there)) return there
  throw new CommandError(
    `${to.name} has a wallet with the id ${id} that is not suspended. Nothing was changed.`,
    5,
    `agent wallet show ${id} --profile ${to.name}`,
  )
}

/** @throws {CommandError} when the wallet is suspended here and not, or not known to be, at the other agent */
export async function moveWallet(from: Side, to: Side, id: string): Promise<Wallet> {
  // The passphrase stays in the memory of this process. Without it, the file cannot be read.
  const passphrase = randomBytes(32).toString('base64url')
  const folder = mkdtempSync(join(tmpdir(), 'agent-wallet-'))
  const file = join(folder, 'wallet')
  try {
    const content = await from.getFileClient().download('POST /wallets/{walletId}/export', {
      path: { walletId: id },
      body: { passphrase, move: true },
    })
    await pipeline(
      Readable.from(content, { objectMode: false }),
      createWriteStream(file, { flags: 'wx', mode: 0o600 }),
    )
    const imported = await to.getFileClient().upload('POST /wallets/import', {
      headers: { 'x-passphrase': Buffer.from(passphrase).toString('base64url') },
      content: createReadStream(file),
      length: statSync(file).size,
    })
    return imported as Wallet
  } catch (error) {
    return await findOutcome(from, to, id, error)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The wallet at the other agent, if it was imported although the answer was lost.
 *
 * @throws `error` with the way out
 */
async function findOutcome(from: Side, to: Side, id: string, error: unknown): Promise<Wallet> {
  const here = await from.call('GET /wallets/{walletId}', { path: { walletId: id } }).catch(() => undefined)
  const end = performance.now() + (isRefusal(error) ? 0 : outcomeMs)
  for (;;) {
    const there = await findWallet(to, id).catch((lost: unknown) => lost)
    if (there instanceof Error) {
      if (!(there instanceof DaemonUnreachable)) break
    } else {
      const found = there as Wallet | undefined
      if (found && found.movedAt === undefined && isSame(here, found)) return found
    }
    if (performance.now() >= end) break
    await sleep(askAgainMs)
  }
  if (here && here.movedAt === undefined) throw error
  const reason = error instanceof Error ? error.message : String(error)
  throw new CommandError(
    `${reason} The wallet ${id} was not seen at ${to.name}; it is suspended here. Run the command again, which continues. To use the wallet here instead, make sure that ${to.name} does not have it (agent wallet show ${id} --profile ${to.name}), and resume it.`,
    error instanceof DaemonUnreachable ? 7 : 1,
    `agent wallet resume ${id}`,
  )
}

/** Whether the other agent, or this one, has said that nothing was done. */
function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError && error.problem.status < 500
}

/** An import keeps the time at which the wallet was created. */
function isSame(here: Wallet | undefined, there: Wallet): boolean {
  return here === undefined || here.createdAt === there.createdAt
}

async function findWallet({ call }: Side, id: string): Promise<Wallet | undefined> {
  try {
    return await call('GET /wallets/{walletId}', { path: { walletId: id } })
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status === 404) return undefined
    throw error
  }
}
