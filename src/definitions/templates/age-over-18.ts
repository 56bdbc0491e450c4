/** Age over 18. */
import type { TemplateFile } from './model.ts'

export default {
  title: 'Age over 18',
  summary: 'That somebody is an adult, and nothing else',
  display: { backgroundColor: '#c64600', textColor: '#ffffff' },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Age over 18',
    type: 'object',
    properties: { ageOver18: { type: 'boolean', title: 'Over 18 years old' } },
    required: ['ageOver18'],
    additionalProperties: false,
  },
  example: { ageOver18: true },
} as const satisfies TemplateFile
