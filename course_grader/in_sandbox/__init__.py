"""What runs in the sandbox beside a student's code. It knows no answer, and nothing here imports from outside this folder."""
