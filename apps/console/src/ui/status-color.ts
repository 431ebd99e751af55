/** What a status means for somebody who looks at a list; a word counts by how it begins: `revoked` is not `ok`. */
const COLORS: readonly (readonly [words: RegExp, color: string])[] = [
  [
    wordsWith('complet|clear|verified|approved|active|delivered|enabled|paid|online|ok$|settled|matched'),
    'teal',
  ],
  [wordsWith('fail|reject|block|cancel|expired|dead|refused|disabled|lost|circuit'), 'red'],
  [wordsWith('dispute|hold|held|review|stuck|unknown|required|overdue|ending'), 'orange'],
  // Over for good, and nothing is wrong with that.
  [wordsWith('revoked|ended|archived'), 'gray'],
];

function wordsWith(beginnings: string): RegExp {
  return new RegExp(`(?:^|[_ ])(?:${beginnings})`, 'i');
}

export function colorOf(status: string): string {
  const [, color] = COLORS.find(([words]) => words.test(status)) ?? [null, 'blue'];
  return color;
}
