/** `removeCommand` defines a command that removes a resource by its id. */
import type { Client } from '../daemon/client/client.ts'
import { type ResourceName, resources } from './client/resources.ts'
import { type Command, defineCommand } from './define-command.ts'
import { connectionArgument, idOf, yesFlag } from './input/arguments.ts'
import { confirm } from './prompts/ask.ts'
import type { Question } from './prompts/missing.ts'

type RemoveDefinition = {
  resource: ResourceName
  summary: string
  /** One or more sentences; how the command asks is added. */
  description?: string
  /** The question, instead of the usual one. `{id}` stands for the id. */
  question?: string | ((call: Client, id: string) => Promise<string>)
  askId?: Question
  /** Removes the resource. The answer of the daemon, if there is one, is what `--json` prints. */
  remove: (call: Client, id: string) => Promise<unknown>
}

/** Defines a remove command. It asks for confirmation, unless `--yes` is given. */
export function removeCommand({
  resource,
  summary,
  description,
  question,
  askId,
  remove,
}: RemoveDefinition): Command {
  const { noun, listCommand } = resources[resource]
  const command = listCommand.replace(/ list\b.*$/, ' remove <id>')
  const sentences = [description, 'Asks for confirmation; in scripts use --yes.']
  const textOf = async (call: Client, id: string) =>
    typeof question === 'function'
      ? question(call, id)
      : (question ?? `Remove the ${noun} {id}? This cannot be undone.`).replace('{id}', id)
  return defineCommand({
    summary,
    description: sentences.filter((each) => each !== undefined).join(' '),
    examples: [command, `${command} --yes`],
    args: resource === 'connection' ? { id: connectionArgument } : idOf(noun),
    flags: { yes: yesFlag },
    ...(askId && { questions: { id: askId } }),
    async run({ args: { id }, flags, call, print }) {
      if (!flags.yes) await confirm(await textOf(call, id))
      const answer = await remove(call, id)
      print(id, [['removed', id]])
      return answer ?? { id, removed: true }
    },
  })
}
