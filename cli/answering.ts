/** What commands have that answer a DID request or a challenge: who asks is shown before anything is said. */
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from './base-command.ts'
import { safeLine } from './format/safe.ts'
import { confirm } from './prompts/confirm.ts'
import { isTerminal } from './prompts/terminal.ts'

export const answerFlags = { yes: Flags.boolean({ char: 'y', description: 'answer without asking' }) }

export abstract class AnsweringCommand extends AgentCommand {
  /** Says who asks for what, by their word and by their address, and at a terminal asks whether to answer. @throws {CommandError} when not. */
  protected async introduce(
    { endpoint, from, wants }: { endpoint: string; from?: unknown; wants: string },
    yes: boolean,
  ): Promise<void> {
    const who = typeof from === 'string' ? `“${safeLine(from)}”` : 'Somebody who gives no name'
    this.say(`${who}, at ${new URL(endpoint).origin}, ${wants}.`)
    if (!yes && isTerminal()) await confirm('Is that who you mean to answer?')
  }
}
