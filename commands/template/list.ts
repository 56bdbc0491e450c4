import { defineLocalCommand } from '../../cli/define-command.ts'
import { getTemplate, templateNames } from '../../src/definitions/templates/index.ts'

export default defineLocalCommand({
  summary: 'List the templates of credentials',
  description: 'A template has the schema of a credential, labels for its claims, and colours.',
  examples: ['agent template list'],
  async run({ printList, suggest }) {
    const contents = templateNames.map((name) => {
      const { title, summary, schema } = getTemplate(name)
      return { name, title, summary, claims: Object.keys(schema.properties) }
    })
    printList(
      contents,
      ({ name }) => name,
      [
        { head: 'name', of: ({ name }) => name },
        { head: 'for', of: ({ summary }) => summary },
        { head: 'claims', of: ({ claims }) => claims.join(', '), optional: true },
      ],
      'There are no templates.',
    )
    suggest('agent template show employee')
    return { contents }
  },
})
