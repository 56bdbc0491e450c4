/** Wallets that were transferred to another agent: they are suspended here. */
import { Problem } from '../base/problem.ts'
import type { AgentDb } from './database.ts'

/** 503: a retry may help, since the wallet's address is about to lead to the other agent. */
export function walletTransferred(id: string): Problem {
  const detail = `The wallet ${id} was transferred to another agent and is suspended here. Try again at its new agent, or ask the operator of this agent to resume it.`
  return new Problem('error:WalletManagementServiceError:WalletMoved', detail)
}

/** Whether an error is the one of a wallet that was transferred. */
export function isTransferred(error: unknown): boolean {
  return error instanceof Problem && error.type === 'error:WalletManagementServiceError:WalletMoved'
}

/**
 * Call it in the transaction that writes a wallet's rows to agent.db, so that an export that suspends the wallet contains every row.
 *
 * @throws {Problem} `WalletMoved`
 */
export async function assertNotTransferred(tx: AgentDb, id: string): Promise<void> {
  const row = await tx.selectFrom('wallet').select('moved_at').where('id', '=', id).executeTakeFirst()
  if (row && row.moved_at !== null) throw walletTransferred(id)
}

/** The answer of a wallet, or undefined when the wallet was transferred and answers at its public address only. */
export async function unlessTransferred<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isTransferred(error)) return undefined
    throw error
  }
}
