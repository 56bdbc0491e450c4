import * as Args from '@oclif/core/args'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { typed } from '../../cli/prompts/missing.ts'
import { getTemplate, type TemplateName, templateNames } from '../../src/definitions/templates/index.ts'

export default defineLocalCommand({
  summary: 'Show a template of credentials: its claims, and an offer with it',
  description: 'With --json also the schema, which `agent schema publish` takes.',
  examples: ['agent template show employee', 'agent template show person --json'],
  args: {
    template: Args.string({
      required: true,
      options: [...templateNames],
      description: 'name of the template',
    }),
  },
  async run({ args, print, suggest }) {
    const name = args.template as TemplateName
    const { title, summary, display, schema, example } = getTemplate(name)
    print(name, [
      ['template', name],
      ['title', title],
      ['for', summary],
      ...Object.entries(schema.properties).map(([claim, property]): [string, string] => [
        claim,
        `${property.title}: ${property.type}${schema.required.includes(claim) ? ', required' : ''}`,
      ]),
    ])
    const claims = Object.entries(example).map(([claim, value]) =>
      typeof value === 'string' ? `${claim}=${value}` : `${claim}:=${JSON.stringify(value)}`,
    )
    suggest(
      `agent credential offer --oid4vci --template ${name} ${typed(claims.flatMap((claim) => ['--claim', claim]))}`,
    )
    return { name, title, summary, display, schema, example }
  },
})
