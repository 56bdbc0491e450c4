/** Diploma. */
import type { TemplateFile } from './model.ts'

export default {
  title: 'Diploma',
  summary: 'A degree or a certificate of a school',
  display: { backgroundColor: '#613583', textColor: '#ffffff' },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Diploma',
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name' },
      birthDate: { type: 'string', title: 'Date of birth', format: 'date' },
      degree: { type: 'string', title: 'Degree' },
      field: { type: 'string', title: 'Field of study' },
      institution: { type: 'string', title: 'Institution' },
      awardedOn: { type: 'string', title: 'Awarded on', format: 'date' },
      grade: { type: 'string', title: 'Grade' },
    },
    required: ['name', 'degree', 'institution', 'awardedOn'],
    additionalProperties: false,
  },
  example: {
    name: 'Alice Smith',
    birthDate: '2001-02-03',
    degree: 'Bachelor of Science',
    field: 'Physics',
    institution: 'Example University',
    awardedOn: '2024-07-15',
    grade: 'with distinction',
  },
} as const satisfies TemplateFile
