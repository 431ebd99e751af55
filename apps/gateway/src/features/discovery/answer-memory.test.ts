import { expect, test } from 'vitest';
import { AnswerMemory } from './answer-memory.ts';

const bodyOf = (memory: AnswerMemory, generation: object, key: string, data: unknown) =>
  memory
    .recall(generation, key, () => data)
    .variant('identity')
    .body.toString();

test('an answer is made once for each generation of the data', () => {
  const memory = new AnswerMemory();
  const [first, second] = [{}, {}];
  expect(bodyOf(memory, first, 'a', 1)).toBe('{"success":true,"data":1}');
  expect(bodyOf(memory, first, 'a', 2)).toBe('{"success":true,"data":1}');
  expect(bodyOf(memory, second, 'a', 3)).toBe('{"success":true,"data":3}');
});

test('a failure is not remembered', () => {
  const memory = new AnswerMemory();
  const generation = {};
  expect(() =>
    memory.recall(generation, 'a', () => {
      throw new Error('not now');
    }),
  ).toThrow('not now');
  expect(bodyOf(memory, generation, 'a', 1)).toContain('1');
});

test('the oldest answers make room when there are too many', () => {
  const memory = new AnswerMemory({ maxAnswers: 2 });
  const generation = {};
  for (const key of ['a', 'b', 'c']) bodyOf(memory, generation, key, `old ${key}`);
  expect(bodyOf(memory, generation, 'c', 'new')).toContain('old c');
  expect(bodyOf(memory, generation, 'a', 'new')).toContain('new');
});

test('the oldest answers make room when they are too large', () => {
  const memory = new AnswerMemory({ maxBytes: 300 });
  const generation = {};
  for (const key of ['a', 'b']) bodyOf(memory, generation, key, key.repeat(200));
  expect(bodyOf(memory, generation, 'b', 'new')).toContain('bbb');
  expect(bodyOf(memory, generation, 'a', 'new')).toContain('new');
});
