/** What commands have that remove something by its id: they ask first, and say what is gone. */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from './base-command.ts'
import { confirm } from './prompts/confirm.ts'

/** The one argument of such a command. */
export const idOf = (what: string) => ({
  id: Args.string({
    required: true,
    ignoreStdin: true,
    description:
      what === 'connection' ? 'the connection: its id, the end of the id, or its label' : `id of the ${what}`,
  }),
})

export abstract class RemovingCommand extends AgentCommand {
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'do it without asking' }) }

  /** Asks, unless `yes` was given, and removes. Returns what the daemon answered. @throws {CommandError} when the answer is no. */
  protected async remove<Answer>(
    id: string,
    { yes }: { yes: boolean },
    question: string,
    removal: () => Promise<Answer>,
  ): Promise<Answer> {
    if (!yes) await confirm(question)
    const answer = await removal()
    this.print(id, [['removed', id]])
    return answer
  }
}
