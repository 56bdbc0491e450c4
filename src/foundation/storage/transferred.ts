/** Wallets that are not here any more: transferred to another agent, which suspends them here, or deleted. */
import { Problem } from '../problem.ts'
import type { AgentDb } from './database.ts'
import { NotOwnerError } from './not-owner-error.ts'

/** 503: a retry may help, since the wallet's address is about to lead to the other agent. */
export function walletTransferred(id: string): Problem {
  const detail = `The wallet ${id} was transferred to another agent and is suspended here. Try again at its new agent, or ask the operator of this agent to resume it.`
  return new Problem('error:WalletManagementServiceError:WalletMoved', detail)
}

/** 404: the wallet does not exist, or was deleted. */
export function walletNotFound(id: string): Problem {
  return new Problem('error:WalletManagementServiceError:WalletNotFound', `There is no wallet ${id}.`)
}

function isTransferred(error: unknown): boolean {
  return error instanceof Problem && error.type === 'error:WalletManagementServiceError:WalletMoved'
}

/** Whether an error is the one of a wallet that was transferred or deleted. */
export function isGone(error: unknown): boolean {
  return (
    isTransferred(error) ||
    (error instanceof Problem && error.type === 'error:WalletManagementServiceError:WalletNotFound')
  )
}

/**
 * Whether this process need not try again to work on the wallet: it is gone, or another process owns it and
 * does the work.
 */
export function isElsewhere(error: unknown): boolean {
  return isGone(error) || error instanceof NotOwnerError
}

/**
 * Call it in the transaction that writes a wallet's rows to agent.db, so that an export that suspends the
 * wallet contains every row, and that no row is written for a deleted wallet.
 *
 * @throws {Problem} `WalletMoved`, `WalletNotFound`
 */
export async function assertNotTransferred(tx: AgentDb, id: string): Promise<void> {
  const row = await tx.selectFrom('wallet').select('moved_at').where('id', '=', id).executeTakeFirst()
  if (!row) throw walletNotFound(id)
  if (row.moved_at !== null) throw walletTransferred(id)
}

/**
 * The answer of a wallet, or undefined when it is not here: one that was transferred, or that another process
 * owns, answers at its public address.
 */
export async function unlessElsewhere<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isElsewhere(error)) return undefined
    throw error
  }
}

/**
 * The answer of a wallet that a public URL names. The URL of a deleted wallet is answered as one that never
 * existed, with `unknown`.
 */
export async function unlessDeleted<T>(answer: Promise<T>, unknown: () => Problem): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw isGone(error) && !isTransferred(error) ? unknown() : error
  }
}
