"""How answers are called where arguments by position will not do: the functions that ``Exercise.driver`` names."""
