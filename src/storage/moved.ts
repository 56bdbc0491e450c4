/** Wallets that were exported to go on at another agent, and rest here. */
import { Problem } from '../base/problem.ts'
import type { AgentDb } from './database.ts'

/** What is said of one. Waiting may help: its address is about to lead to the other agent. */
export function moved(id: string): Problem {
  const detail = `The wallet ${id} was exported to go on at another agent, and rests here. Try again where it is now; the operator of this agent can resume it.`
  return new Problem('error:WalletManagementServiceError:WalletMoved', detail)
}

/** Whether something was not done because of that. */
export function isTransferred(error: unknown): boolean {
  return error instanceof Problem && error.type === 'error:WalletManagementServiceError:WalletMoved'
}

/** For what a wallet writes to agent.db, in the same transaction: what is written is in an export that has it rest. @throws {Problem} `WalletMoved` */
export async function mustBeHere(tx: AgentDb, id: string): Promise<void> {
  const row = await tx.selectFrom('wallet').select('moved_at').where('id', '=', id).executeTakeFirst()
  if (row && row.moved_at !== null) throw moved(id)
}

/** What a wallet that may have moved answers here; nothing when it has, so that it is asked where everybody else asks. */
export async function unlessMoved<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isTransferred(error)) return undefined
    throw error
  }
}
